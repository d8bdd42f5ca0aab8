// Package pebbles is a game in C: c/pebbles.c is all of its rules. It shows that rules in any language are hosted, recorded,
// verified and debugged by a program that was not built with them. docs/spec/abi.md specifies the module, and
// module/samestep_rules.h helps to write one.
//
//	clang --target=wasm32 -O2 -ffreestanding -fno-builtin -nostdlib -Wl,--no-entry -I ../../module -o pebbles.wasm c/pebbles.c
//	samestep rules check pebbles.wasm
//	samestep serve --rules pebbles.wasm
package pebbles

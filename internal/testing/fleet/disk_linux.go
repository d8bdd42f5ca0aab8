package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// diskBytes is the size of a Disk, most of it a hole.
const diskBytes = 256 << 20

// A Disk is a file system of its own, in a file, that can freeze: then it answers no write and no sync, as an NFS whose
// server is away.
type Disk struct {
	path  string
	later *exec.Cmd // thaws it, so that a test that is killed leaves no frozen disk; nil while it is not frozen
}

// longestFreeze is when a Disk thaws by itself, in seconds.
const longestFreeze = "120"

// MountDisk makes a disk in the file of a path, and mounts it at a folder, which it makes. It needs the rights of root.
func MountDisk(image, path string) (*Disk, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	f, err := os.Create(image)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(diskBytes); err != nil {
		return nil, err
	}
	if err := run("mkfs.ext4", "-q", image); err != nil {
		return nil, err
	}
	return &Disk{path: path}, run("mount", "-o", "loop", image, path)
}

// Freeze lets the disk answer nothing until Thaw, or for two minutes.
func (d *Disk) Freeze() error {
	d.later = exec.Command("sh", "-c", `sleep "$0" && fsfreeze --unfreeze "$1"`, longestFreeze, d.path)
	d.later.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // for Thaw
	if err := d.later.Start(); err != nil {
		return err
	}
	return run("fsfreeze", "--freeze", d.path)
}

// Thaw lets it answer again.
func (d *Disk) Thaw() error {
	if d.later == nil {
		return nil
	}
	_ = syscall.Kill(-d.later.Process.Pid, syscall.SIGKILL)
	d.later.Wait()
	d.later = nil
	return run("fsfreeze", "--unfreeze", d.path)
}

// Unmount removes the disk, frozen or not. No process may use it.
func (d *Disk) Unmount() error {
	d.Thaw()
	return run("umount", d.path)
}

func run(line ...string) error {
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("fleet: %q: %w: %s", line, err, out)
	}
	return nil
}

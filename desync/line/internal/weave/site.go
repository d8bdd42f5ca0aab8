package weave

// A Kind says what a probe tells.
type Kind uint8

// The kinds of probes.
const (
	Enter  Kind = iota // a function is called, with its arguments
	Call               // a statement with calls begins
	Write              // a variable or a field has a new value
	Define             // a new variable has its value
	Test               // the value of a condition, or of the expression of a switch
	Range              // a loop takes the next element
	Case               // a case is chosen
	Return             // a value is returned
	Arg                // an argument of a call that is computed in place
	Branch             // a break, continue, goto or fallthrough
	Spawn              // a goroutine is started
	Reach              // what a call of code without probes leaves in what its arguments reach
)

// String returns the kind in a word.
func (k Kind) String() string {
	return [...]string{"enter", "call", "write", "define", "test", "range", "case", "return", "arg", "branch", "spawn", "reach"}[k]
}

// A Site is the place of a probe.
type Site struct {
	Func   string // such as "example.com/hex.(*World).move" or "example.com/hex.step.func1"
	File   string // relative to the folder of the module
	Line   int
	Kind   Kind
	Text   string   // the expression or statement, or the variable that is assigned
	Name   string   // Write, Define: the variable or field that is assigned; Reach: the first that may be changed
	Const  string   // Return: the value, if it is a constant
	Local  bool     // Write: of a local variable
	Reads  []string // names of the variables and fields that it reads
	Uses   []string // names of the constants and variables of packages among them, as in Source.Decls
	Source string   // the line, without the space at its ends
}

// A Decl is the declaration of a constant or a variable of a package.
type Decl struct {
	File string
	Line int
	Text string // with its lines
}

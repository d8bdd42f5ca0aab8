module example.com/ground

go 1.26

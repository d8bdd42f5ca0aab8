module example.com/sky

go 1.26

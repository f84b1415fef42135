module example.org/duration

go 1.22

require example.org/textscan v0.3.1

package service

// LookPause is the longest pause between two looks at an advance.
var LookPause = lookPause

// Package archtest holds the layer rule of the module as data and checks it, together
// with a few habits that a compiler does not see. It has tests only; run them with -v to
// see the outliers of file and function size.
package archtest

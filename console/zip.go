package console

import (
	"bytes"
	"compress/gzip"
	"sync"
)

// zips are the page's files as they go over the wire, each made once.
var zips sync.Map

func zipped(name string, data []byte) []byte {
	if z, ok := zips.Load(name); ok {
		return z.([]byte)
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic("console: " + err.Error())
	}
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	z, _ := zips.LoadOrStore(name, b.Bytes())
	return z.([]byte)
}

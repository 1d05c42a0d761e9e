// Makes a package as Crossplane's own builder does, and pushes it: `producer [-types oci|docker] [-index] [-user NAME:PASSWORD]
// REFERENCE` with package.yaml on standard input. Writes the digest of what it pushed.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const annotation = "io.crossplane.xpkg"

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func layerOf(stream []byte, options ...tarball.LayerOption) v1.Layer {
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	header := &tar.Header{Name: "package.yaml", Mode: 0o644, Size: int64(len(stream))}
	if err := writer.WriteHeader(header); err != nil {
		log.Fatal(err)
	}
	must(writer.Write(stream))
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }
	return must(tarball.LayerFromOpener(open, options...))
}

// The builder writes a label with the digest of the layer; what pushes turns it into an annotation.
func imageOf(stream []byte, oci bool) v1.Image {
	options := []tarball.LayerOption{tarball.WithCompressionLevel(gzip.BestSpeed)}
	base := v1.Image(empty.Image)
	if oci {
		options = append(options, tarball.WithMediaType(types.OCILayer))
		base = mutate.ConfigMediaType(mutate.MediaType(base, types.OCIManifestSchema1), types.OCIConfigJSON)
	}
	layer := layerOf(stream, options...)
	digest := must(layer.Digest())
	labelled := must(mutate.Config(base, v1.Config{Labels: map[string]string{annotation + ":" + digest.String(): "base"}}))
	return must(mutate.Append(labelled, mutate.Addendum{Layer: layer, Annotations: map[string]string{annotation: "base"}}))
}

func main() {
	kinds := flag.String("types", "docker", "media types: oci or docker")
	index := flag.Bool("index", false, "an index of one image for each of two platforms")
	user := flag.String("user", "", "NAME:PASSWORD")
	flag.Parse()
	oci := *kinds == "oci"
	reference := must(name.ParseReference(flag.Arg(0)))
	var options []remote.Option
	if username, password, found := strings.Cut(*user, ":"); found {
		options = append(options, remote.WithAuth(&authn.Basic{Username: username, Password: password}))
	}
	stream := must(io.ReadAll(os.Stdin))
	image := imageOf(stream, oci)
	if !*index {
		if err := remote.Write(reference, image, options...); err != nil {
			log.Fatal(err)
		}
		fmt.Println(must(image.Digest()))
		return
	}
	other := imageOf(append([]byte("# for another platform\n"), stream...), oci)
	both := v1.ImageIndex(empty.Index)
	if !oci {
		both = mutate.IndexMediaType(both, types.DockerManifestList)
	}
	both = mutate.AppendManifests(both,
		mutate.IndexAddendum{Add: other, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}},
		mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
	)
	if err := remote.WriteIndex(reference, both, options...); err != nil {
		log.Fatal(err)
	}
	fmt.Println(must(both.Digest()))
}

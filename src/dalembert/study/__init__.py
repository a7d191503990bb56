"""Studies: many motions in chunks, on several processes or machines, kept in a store from which they go on."""

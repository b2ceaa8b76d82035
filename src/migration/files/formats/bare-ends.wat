;; The two loops over every byte of imported mail, 16 bytes at a time. `npm run wasm` assembles them.
;; A bare line end is an LF without a CR in front of it. The byte in front of `$at` is read, too.
;; Bytes are counted and converted where they are: other threads see the same memory.
(module
  (memory (export "memory") 576 576 shared)

  ;; Counts the bare line ends from $at to $end.
  (func (export "count") (param $at i32) (param $end i32) (result i32)
    (local $count i32)
    (block $vectorsDone
      (loop $vectors
        (br_if $vectorsDone (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
        (local.set $count
          (i32.add (local.get $count) (i32.popcnt (call $bareEndsAt (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $vectors)))
    (block $bytesDone
      (loop $bytes
        (br_if $bytesDone (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $count (i32.add (local.get $count) (call $isBareEnd (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $bytes)))
    (local.get $count))

  ;; Copies the bytes from $at to $end to $out, with a CR in front of each bare line end. Returns
  ;; the end of what it wrote, or 0 if that would be behind $limit; up to 15 bytes in front of
  ;; $limit change even if they are not needed.
  (func (export "convert")
    (param $at i32) (param $end i32) (param $out i32) (param $limit i32) (result i32)
    (local $ends i32)
    (block $vectorsDone
      (loop $vectors
        (br_if $vectorsDone (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
        (br_if $vectorsDone (i32.gt_u (i32.add (local.get $out) (i32.const 17)) (local.get $limit)))
        (v128.store (local.get $out) (v128.load (local.get $at)))
        (if (local.tee $ends (call $bareEndsAt (local.get $at)))
          (then
            ;; Go on behind the first one.
            (local.set $ends (i32.ctz (local.get $ends)))
            (i32.store16 (i32.add (local.get $out) (local.get $ends)) (i32.const 0x0a0d))
            (local.set $at (i32.add (i32.add (local.get $at) (local.get $ends)) (i32.const 1)))
            (local.set $out (i32.add (i32.add (local.get $out) (local.get $ends)) (i32.const 2))))
          (else
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (local.set $out (i32.add (local.get $out) (i32.const 16)))))
        (br $vectors)))
    (block $bytesDone
      (loop $bytes
        (br_if $bytesDone (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $ends (call $isBareEnd (local.get $at)))
        (if (i32.gt_u
              (i32.add (i32.add (local.get $out) (local.get $ends)) (i32.const 1))
              (local.get $limit))
          (then (return (i32.const 0))))
        (if (local.get $ends)
          (then
            (i32.store8 (local.get $out) (i32.const 13))
            (local.set $out (i32.add (local.get $out) (i32.const 1)))))
        (i32.store8 (local.get $out) (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $out (i32.add (local.get $out) (i32.const 1)))
        (br $bytes)))
    (local.get $out))

  ;; One bit for each of the 16 bytes at $at.
  (func $bareEndsAt (param $at i32) (result i32)
    (i8x16.bitmask
      (v128.andnot
        (i8x16.eq (v128.load (local.get $at)) (i8x16.splat (i32.const 10)))
        (i8x16.eq
          (v128.load (i32.sub (local.get $at) (i32.const 1)))
          (i8x16.splat (i32.const 13))))))

  (func $isBareEnd (param $at i32) (result i32)
    (i32.and
      (i32.eq (i32.load8_u (local.get $at)) (i32.const 10))
      (i32.ne (i32.load8_u (i32.sub (local.get $at) (i32.const 1))) (i32.const 13)))))

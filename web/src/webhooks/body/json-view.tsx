import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import type { Line } from './format-json.ts'
import codeClasses from './code.module.css'
import classes from './json-view.module.css'
import { body } from '../messages.ts'

/** Lines that are all drawn: each has several elements, and a browser takes seconds for 50,000. */
const ALL_DRAWN = 1_000

/** Pixels of a line that is not broken. */
const LINE = 22

/** JSON formatted and coloured. It stays text: a sender's markup never becomes an element. */
export function JsonView({ lines }: { lines: Line[] }) {
  return lines.length > ALL_DRAWN ? <LongJson lines={lines} /> : <ShortJson lines={lines} />
}

function ShortJson({ lines }: { lines: Line[] }) {
  return (
    <pre className={`${codeClasses.code} ${classes.json}`} tabIndex={0} aria-label={body.formatted}>
      {lines.map((line, index) => (
        <div key={index}>
          <Tokens line={line} />
        </div>
      ))}
    </pre>
  )
}

/** Draws the lines in view only. */
function LongJson({ lines }: { lines: Line[] }) {
  const scroller = useRef<HTMLPreElement>(null)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    overscan: 20,
  })
  return (
    <pre
      ref={scroller}
      className={`${codeClasses.code} ${classes.json}`}
      tabIndex={0}
      aria-label={body.formatted}
    >
      <div className={classes.whole} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            ref={virtual.measureElement}
            data-index={index}
            className={classes.line}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Tokens line={lines[index] as Line} />
          </div>
        ))}
      </div>
    </pre>
  )
}

function Tokens({ line: { depth, tokens } }: { line: Line }) {
  return (
    <>
      {'  '.repeat(depth)}
      {tokens.map(({ kind, text }, at) => (
        <span key={at} data-kind={kind}>
          {text}
        </span>
      ))}
    </>
  )
}

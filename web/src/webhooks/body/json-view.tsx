import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Row } from '../../ui/layout/page.tsx'
import { findBlocks, visibleLines } from './fold-lines.ts'
import type { Line } from './format-json.ts'
import codeClasses from './code.module.css'
import classes from './json-view.module.css'
import { body } from '../messages.ts'

/** Lines that are all drawn: each has several elements, and a browser takes seconds for 50,000. */
const ALL_DRAWN = 1_000

/** Pixels of a line that is not broken. */
const LINE = 22

type Folding = {
  lines: Line[]
  /** The lines that are shown. */
  rows: number[]
  blocks: ReadonlyMap<number, number>
  folded: ReadonlySet<number>
  toggle: (line: number) => void
}

/**
 * JSON formatted and coloured, whose objects and arrays fold. It stays text: a sender's markup never
 * becomes an element.
 */
export function JsonView({ lines }: { lines: Line[] }) {
  const blocks = useMemo(() => findBlocks(lines), [lines])
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const rows = useMemo(() => visibleLines(lines.length, blocks, folded), [lines, blocks, folded])
  const folding: Folding = {
    lines,
    rows,
    blocks,
    folded,
    toggle: (line) => setFolded(new Set([line]).symmetricDifference(folded)),
  }
  // The outermost one stays open: below it are the objects that a reader compares.
  const inner = [...blocks.keys()].filter((line) => line > 0)
  return (
    <>
      {inner.length > 0 && (
        <Row>
          <Button size="small" onClick={() => setFolded(new Set(inner))}>
            {body.foldAll}
          </Button>
          <Button size="small" disabled={folded.size === 0} onClick={() => setFolded(new Set())}>
            {body.unfoldAll}
          </Button>
        </Row>
      )}
      {rows.length > ALL_DRAWN ? <LongJson {...folding} /> : <ShortJson {...folding} />}
    </>
  )
}

function ShortJson(folding: Folding) {
  return (
    <pre
      className={`${codeClasses.code} ${classes.json}`}
      tabIndex={0}
      aria-label={body.formatted}
      onKeyDown={moveBetweenFolds}
    >
      {folding.rows.map((index) => (
        <div key={index}>
          <FoldedLine {...folding} index={index} />
        </div>
      ))}
    </pre>
  )
}

/** Draws the lines in view only. */
function LongJson(folding: Folding) {
  const { rows } = folding
  const scroller = useRef<HTMLPreElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    getItemKey: (row) => rows[row] ?? row,
    overscan: 20,
  })
  return (
    <pre
      ref={scroller}
      className={`${codeClasses.code} ${classes.json}`}
      tabIndex={0}
      aria-label={body.formatted}
      onKeyDown={moveBetweenFolds}
    >
      <div className={classes.whole} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index: row, key, start }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={row}
            className={classes.line}
            style={{ transform: `translateY(${start}px)` }}
          >
            <FoldedLine {...folding} index={rows[row] ?? 0} />
          </div>
        ))}
      </div>
    </pre>
  )
}

/** One Tab stop for all buttons; the arrow keys go from one to the next. */
function moveBetweenFolds(event: KeyboardEvent<HTMLPreElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('button')]
  const at = all.indexOf(event.target as HTMLElement)
  if (step === undefined || at < 0) return
  event.preventDefault()
  all[at + step]?.focus()
}

type FoldedLineProps = Folding & { index: number }

/** A line; a folded block is one, from its first to its last bracket. */
function FoldedLine({ lines, rows, blocks, folded, toggle, index }: FoldedLineProps) {
  const { depth, tokens } = lines[index] as Line
  const end = blocks.get(index)
  const isFolded = folded.has(index)
  const hidden = end === undefined ? 0 : end - index - 1
  return (
    <>
      {'  '.repeat(depth)}
      {end !== undefined && (
        <button
          type="button"
          className={classes.fold}
          tabIndex={rows.find((row) => blocks.has(row)) === index ? 0 : -1}
          aria-expanded={!isFolded}
          aria-label={body.fold(index + 1)}
          onClick={() => toggle(index)}
        />
      )}
      <Tokens tokens={tokens} />
      {isFolded && end !== undefined && (
        <>
          <span data-kind="mark">{body.hiddenLines(hidden)}</span>
          <Tokens tokens={(lines[end] as Line).tokens} />
        </>
      )}
    </>
  )
}

function Tokens({ tokens }: Pick<Line, 'tokens'>) {
  return tokens.map(({ kind, text }, at) => (
    <span key={at} data-kind={kind}>
      {text}
    </span>
  ))
}

import type { Line } from './pretty-json.ts'
import classes from './json-view.module.css'

/** JSON set out and coloured, as text: what strangers sent is never more than that. */
export function JsonView({ lines }: { lines: Line[] }) {
  return (
    <pre className={classes.json} tabIndex={0} aria-label="Body, set out">
      {lines.map(({ depth, tokens }, index) => (
        <div key={index}>
          {'  '.repeat(depth)}
          {tokens.map(({ kind, text }, at) => (
            <span key={at} data-kind={kind}>
              {text}
            </span>
          ))}
        </div>
      ))}
    </pre>
  )
}

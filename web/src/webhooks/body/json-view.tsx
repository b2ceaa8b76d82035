import type { Line } from './format-json.ts'
import codeClasses from './code.module.css'
import classes from './json-view.module.css'
import { body } from '../messages.ts'

/** JSON formatted and coloured. It stays text: a sender's markup never becomes an element. */
export function JsonView({ lines }: { lines: Line[] }) {
  return (
    <pre className={`${codeClasses.code} ${classes.json}`} tabIndex={0} aria-label={body.formatted}>
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

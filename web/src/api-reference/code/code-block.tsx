import type { ReactNode } from 'react'
import { highlight, type CodeLanguage } from '../samples/highlight.ts'
import classes from './code.module.css'
import { CopyButton } from './copy-button.tsx'

type CodeBlockProps = {
  code: string
  language: CodeLanguage
  /** The name of the block; completes “Copy …”. */
  what: string
  /** Beside the copy button, such as tabs or a status. */
  head?: ReactNode
}

/** Colored code to copy. Its lines are not wrapped. */
export function CodeBlock({ code, language, what, head }: CodeBlockProps) {
  return (
    <figure className={classes.block} aria-label={what}>
      <div className={classes.head}>
        <div className={classes.title}>{head}</div>
        <CopyButton text={code} what={what} />
      </div>
      {/* Focusable, so that wide code can be scrolled with the keyboard. */}
      <pre tabIndex={0}>
        <code>
          {highlight(code, language).map(({ kind, text }, index) =>
            kind === 'plain' ? (
              text
            ) : (
              <span key={index} className={classes[kind]}>
                {text}
              </span>
            ),
          )}
        </code>
      </pre>
    </figure>
  )
}

import { CopyButton } from './copy.tsx'
import classes from './letter.module.css'

type LetterProps = {
  /** Completes “Copy …”. */
  what: string
  /** Names and what they are, such as whom it goes to; a pair without a value is left out. */
  head?: [name: string, value: string | null][]
  text: string
}

/** A text written for a person to read, send or paste: wrapped, unlike code. */
export function Letter({ what, head = [], text }: LetterProps) {
  return (
    <figure className={classes.letter} aria-label={what}>
      <div className={classes.head}>
        <dl>
          {head
            .filter(([, value]) => Boolean(value))
            .map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
        </dl>
        <CopyButton text={text} what={what} />
      </div>
      <div className={classes.text}>{text}</div>
    </figure>
  )
}

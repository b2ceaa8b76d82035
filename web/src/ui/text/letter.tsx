import { CopyButton } from '../actions/copy.tsx'
import classes from './letter.module.css'
import { PairList, type Pairs } from '../lists/pairs.tsx'

type LetterProps = {
  /** Completes “Copy …”. */
  what: string
  /** Headers, such as the recipient; a pair without a value is left out. */
  head?: Pairs
  text: string
}

/** A text written for a person to read, send or paste: wrapped, unlike code. */
export function LetterText({ what, head = [], text }: LetterProps) {
  return (
    <figure className={classes.letter} aria-label={what}>
      <div className={classes.head}>
        <PairList pairs={head} />
        <CopyButton text={text} what={what} />
      </div>
      <div className={classes.text}>{text}</div>
    </figure>
  )
}

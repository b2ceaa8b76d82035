import classes from './skip-link.module.css'
import { frame } from './messages.ts'

/** The first stop of the Tab key: skips the navigation. */
export function SkipLink() {
  return (
    <a className={classes.skip} href="#main" onClick={skip}>
      {frame.skip}
    </a>
  )
}

function skip(event: { preventDefault: () => void }): void {
  // Following the link would replace the fragment of a setup link.
  event.preventDefault()
  document.querySelector<HTMLElement>('main h1')?.focus()
}

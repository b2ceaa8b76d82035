import classes from './skip-link.module.css'

/** The first stop of the Tab key: past the navigation, to the content. */
export function SkipLink() {
  return (
    <a className={classes.skip} href="#main" onClick={skip}>
      Skip to the content
    </a>
  )
}

function skip(event: { preventDefault: () => void }): void {
  // Followed, the fragment would replace that of a set-up link.
  event.preventDefault()
  document.querySelector<HTMLElement>('main h1')?.focus()
}

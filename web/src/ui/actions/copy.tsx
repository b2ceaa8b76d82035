import { useClipboard } from '@mantine/hooks'
import { Button } from './button.tsx'
import classes from './copy.module.css'
import { VisuallyHidden } from '../text/visually-hidden.tsx'

type CopyProps = {
  text: string
  /** Completes “Copy …” for those who hear the button without seeing what stands beside it. */
  what: string
  /** In place of “Copy”, where the button has to say it all by itself. */
  label?: string
}

export function CopyButton({ text, what, label }: CopyProps) {
  const clipboard = useClipboard({ timeout: 2_000 })
  return (
    <span className={classes.button}>
      <Button size="small" icon={clipboard.copied ? 'done' : 'copy'} onClick={() => clipboard.copy(text)}>
        {clipboard.copied ? 'Copied' : (label ?? 'Copy')}{' '}
        {label === undefined && <VisuallyHidden>{what}</VisuallyHidden>}
      </Button>
      <span role="status">
        <VisuallyHidden>{clipboard.copied ? 'Copied.' : ''}</VisuallyHidden>
      </span>
    </span>
  )
}

/** Text to take along, whole and unbroken by the page: a record, a command, JSON. */
export function Snippet({ text, what }: { text: string; what: string }) {
  return (
    <figure className={classes.snippet} aria-label={what}>
      {/* Focusable, because what is too wide can be scrolled with the keyboard only then. */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} what={what} />
    </figure>
  )
}

import { useClipboard } from '@mantine/hooks'
import { Button } from './button.tsx'
import classes from './copy.module.css'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import { messages } from '../messages.ts'

type CopyProps = {
  text: string
  /** Completes “Copy …” for screen readers. */
  what: string
  /** Replaces “Copy”, where the button stands alone. */
  label?: string
}

export function CopyButton({ text, what, label }: CopyProps) {
  const clipboard = useClipboard({ timeout: 2_000 })
  return (
    <span className={classes.button}>
      <Button
        size="small"
        icon={clipboard.copied ? 'done' : 'copy'}
        onClick={() => clipboard.copy(text)}
      >
        {clipboard.copied ? messages.copy.copied : (label ?? messages.copy.copy)}{' '}
        {label === undefined && <VisuallyHidden>{what}</VisuallyHidden>}
      </Button>
      <span role="status">
        <VisuallyHidden>{clipboard.copied ? messages.copy.announcement : ''}</VisuallyHidden>
      </span>
    </span>
  )
}

/** Text to copy, such as a record, a command or JSON. Its lines are not wrapped. */
export function Snippet({ text, what }: { text: string; what: string }) {
  return (
    <figure className={classes.snippet} aria-label={what}>
      {/* Focusable, so that wide text can be scrolled with the keyboard. */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} what={what} />
    </figure>
  )
}

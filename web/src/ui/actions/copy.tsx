import { useEffect, useState } from 'react'
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

/** Milliseconds for which a button shows that its text was copied. */
const SHOWN_MS = 2_000

export function CopyButton({ text, what, label }: CopyProps) {
  const [isCopied, copy] = useCopied(text)
  return (
    <span className={classes.button}>
      <Button size="small" icon={isCopied ? 'done' : 'copy'} onClick={copy}>
        {isCopied ? messages.copy.copied : (label ?? messages.copy.copy)}{' '}
        {label === undefined && <VisuallyHidden>{what}</VisuallyHidden>}
      </Button>
      <span role="status">
        <VisuallyHidden>{isCopied ? messages.copy.announcement : ''}</VisuallyHidden>
      </span>
    </span>
  )
}

/** @returns whether the text was copied just now, and what copies it */
function useCopied(text: string): [boolean, () => void] {
  const [copiedAt, setCopiedAt] = useState(0)
  useEffect(() => {
    if (copiedAt === 0) return undefined
    const timer = setTimeout(() => setCopiedAt(0), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copiedAt])
  const copy = () =>
    void navigator.clipboard?.writeText(text).then(
      () => setCopiedAt(performance.now()),
      () => undefined,
    )
  return [copiedAt > 0, copy]
}

type SnippetProps = {
  text: string
  what: string
  /** Wraps lines, where everything must be seen, such as a secret in a command. */
  wraps?: boolean
}

/** Text to copy, such as a record, a command or JSON. */
export function Snippet({ text, what, wraps = false }: SnippetProps) {
  return (
    <figure className={classes.snippet} aria-label={what} data-wraps={wraps || undefined}>
      {/* Focusable, so that wide text can be scrolled with the keyboard. */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} what={what} />
    </figure>
  )
}

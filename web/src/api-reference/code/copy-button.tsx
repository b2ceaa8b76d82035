import { useEffect, useState } from 'react'
import { Icon } from '../../ui/brand/icons.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { copy as messages } from '../messages.ts'
import classes from './code.module.css'

const SHOWN_MS = 2_000

type CopyProps = {
  text: string
  /** Completes “Copy …” for screen readers. */
  what: string
  /** Replaces “Copy”. */
  label?: string
}

export function CopyButton({ text, what, label = messages.copy }: CopyProps) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return undefined
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <>
      <button
        type="button"
        className={classes.copy}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        <Icon name={isCopied ? 'done' : 'copy'} size={14} />
        {isCopied ? messages.copied : label} <VisuallyHidden>{what}</VisuallyHidden>
      </button>
      <span role="status" className={classes.announcement}>
        <VisuallyHidden>{isCopied ? messages.announcement : ''}</VisuallyHidden>
      </span>
    </>
  )
}

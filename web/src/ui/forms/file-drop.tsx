import { useState, type DragEvent } from 'react'
import classes from './file-drop.module.css'
import { Icon } from '../brand/icons.tsx'

type FileDropProps = {
  /** The label of the button. */
  label: string
  hint: string
  busy: boolean
  /** Why files are not accepted; replaces the hint. */
  disabledReason?: string | undefined
  onFiles: (files: File[]) => void
}

/** Accepts files chosen with a button or dropped onto it. */
export function FileDrop({ label, hint, busy, disabledReason, onFiles }: FileDropProps) {
  const [isOver, setIsOver] = useState(false)
  const isClosed = busy || disabledReason !== undefined

  function hold(event: DragEvent): void {
    event.preventDefault()
    setIsOver(true)
  }
  function drop(event: DragEvent): void {
    event.preventDefault()
    setIsOver(false)
    if (!isClosed && event.dataTransfer.files.length > 0) onFiles([...event.dataTransfer.files])
  }

  return (
    <div
      className={classes.drop}
      data-over={isOver}
      onDragOver={hold}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <label className={classes.choose}>
        <input
          type="file"
          multiple
          disabled={isClosed}
          onChange={({ currentTarget: input }) => {
            const files = [...(input.files ?? [])]
            // The same files may be chosen again.
            input.value = ''
            if (files.length > 0) onFiles(files)
          }}
        />
        <Icon name="plus" size={16} />
        {label}
      </label>
      <p className={classes.hint}>{disabledReason ?? hint}</p>
    </div>
  )
}

import { useState, type DragEvent } from 'react'
import classes from './file-drop.module.css'
import { Icon } from '../brand/icons.tsx'

type FileDropProps = {
  /** The label of the button. */
  label: string
  hint: string
  busy: boolean
  onFiles: (files: File[]) => void
}

/** Accepts files chosen with a button or dropped onto it. */
export function FileDrop({ label, hint, busy, onFiles }: FileDropProps) {
  const [isOver, setIsOver] = useState(false)

  function hold(event: DragEvent): void {
    event.preventDefault()
    setIsOver(true)
  }
  function drop(event: DragEvent): void {
    event.preventDefault()
    setIsOver(false)
    if (!busy && event.dataTransfer.files.length > 0) onFiles([...event.dataTransfer.files])
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
          disabled={busy}
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
      <p className={classes.hint}>{hint}</p>
    </div>
  )
}

import { useId, useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Row, Muted, Stack } from '../ui/layout/page.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import type { Folder } from './api.ts'
import classes from './folder-picker.module.css'
import { useOf } from './words.ts'

/** Folders of one migration at most. */
const MOST = 200
/** From so many on, a field to find them by. */
const MANY = 15

type FolderPickerProps = { folders: Folder[]; chosen: ReadonlySet<string>; onChange: (chosen: Set<string>) => void }

/** The folders of an account with what is in them, to choose from. */
export function FolderPicker({ folders, chosen, onChange }: FolderPickerProps) {
  const [text, setText] = useState('')
  const shown = folders.filter(({ path }) => path.toLowerCase().includes(text.toLowerCase()))
  const picked = folders.filter(({ path }) => chosen.has(path))
  const messages = picked.reduce((sum, folder) => sum + folder.messages, 0)
  const most = Math.max(...folders.map((folder) => folder.messages), 1)

  function toggle(paths: string[], on: boolean): void {
    const next = new Set(chosen)
    for (const path of paths) next[on ? 'add' : 'delete'](path)
    onChange(next)
  }

  const paths = shown.map(({ path }) => path)
  return (
    <Stack>
      <Row>
        <Button size="small" onClick={() => toggle(paths, true)}>
          All
        </Button>
        <Button size="small" onClick={() => toggle(paths, false)}>
          None
        </Button>
        {folders.length >= MANY && (
          <input
            className={classes.find}
            type="search"
            aria-label="Find a folder"
            placeholder="Find a folder"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <span className={classes.sum} role="status">
          {counted(picked.length, 'folder')}, {counted(messages, 'message')}
          {picked.length > MOST && ` (at most ${MOST} folders at once)`}
        </span>
      </Row>
      <ul className={classes.folders}>
        {shown.map((folder) => (
          <FolderItem
            key={folder.path}
            folder={folder}
            share={folder.messages / most}
            isChosen={chosen.has(folder.path)}
            onToggle={(on) => toggle([folder.path], on)}
          />
        ))}
      </ul>
    </Stack>
  )
}

type FolderItemProps = { folder: Folder; share: number; isChosen: boolean; onToggle: (on: boolean) => void }

function FolderItem({ folder: { path, messages, unseen, specialUse }, share, isChosen, onToggle }: FolderItemProps) {
  const id = useId()
  const use = useOf(specialUse)
  return (
    <li>
      <input
        type="checkbox"
        id={id}
        checked={isChosen}
        onChange={(event) => onToggle(event.currentTarget.checked)}
        aria-describedby={`${id}-count`}
      />
      <label htmlFor={id}>
        {path} {use && use !== path && <Muted>({use})</Muted>}
      </label>
      <span className={classes.share} aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
      <span id={`${id}-count`} className={classes.count}>
        {numberText(messages)} <small>{unseen > 0 ? `${numberText(unseen)} unread` : ''}</small>
      </span>
    </li>
  )
}

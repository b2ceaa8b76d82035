import { useId, useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Row, Muted, Stack } from '../../ui/layout/page.tsx'
import { numberText } from '../../ui/text/format.ts'
import type { Folder } from '../api.ts'
import fieldClasses from '../../ui/forms/small-field.module.css'
import classes from './folder-picker.module.css'
import { folderPicker as texts, wizard } from '../messages.ts'
import { folderUse } from '../status.ts'

/** Folders of one migration. */
const MAX_FOLDERS = 200
/** With this many folders or more, there is a search field. */
const SEARCH_FROM = 15

type FolderPickerProps = {
  folders: Folder[]
  chosen: ReadonlySet<string>
  onChange: (chosen: Set<string>) => void
}

/** Selects folders of an account. Shows how many messages each has. */
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
          {texts.all}
        </Button>
        <Button size="small" onClick={() => toggle(paths, false)}>
          {texts.none}
        </Button>
        {folders.length >= SEARCH_FROM && (
          <input
            className={`${fieldClasses.field} ${classes.find}`}
            type="search"
            aria-label={texts.find}
            placeholder={texts.find}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <span className={classes.sum} role="status">
          {wizard.chosen(picked.length, messages)}
          {picked.length > MAX_FOLDERS && texts.limit(MAX_FOLDERS)}
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

type FolderItemProps = {
  folder: Folder
  share: number
  isChosen: boolean
  onToggle: (on: boolean) => void
}

function FolderItem({
  folder: { path, messages, unseen, specialUse },
  share,
  isChosen,
  onToggle,
}: FolderItemProps) {
  const id = useId()
  const use = folderUse(specialUse)
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
        {numberText(messages)} <small>{unseen > 0 ? texts.unread(unseen) : ''}</small>
      </span>
    </li>
  )
}

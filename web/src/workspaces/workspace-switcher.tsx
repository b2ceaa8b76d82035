import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { accountQuery } from '../queries.ts'
import { Icon } from '../ui/brand/icons.tsx'
import { Dialog } from '../ui/layout/dialog.tsx'
import { workspacesQuery, type Workspace } from './api.ts'
import { useSwitchWorkspace } from './use-switch-workspace.ts'
import classes from './workspace-switcher.module.css'
import { switcher as messages } from './messages.ts'

/** The number of workspaces from which on they can be searched. */
const SEARCHABLE = 8

/** The workspace in use, and a dialog with the others. Shown to people with several. */
export function WorkspaceSwitcher() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  const { data: account } = useQuery(accountQuery)
  const { data: all = [] } = useQuery(workspacesQuery)
  const usable = all.filter(({ deleteAfter }) => deleteAfter === null)
  if (!account || usable.length < 2) return null
  const { name } = account.workspace

  function open(): void {
    setOpen(true)
    dialog.current?.showModal()
  }

  return (
    <>
      <button
        type="button"
        className={classes.button}
        aria-haspopup="dialog"
        aria-label={messages.open(name)}
        onClick={open}
      >
        <span className={classes.name}>{name}</span>
        <Icon name="down" size={16} />
      </button>
      <Dialog ref={dialog} label={messages.title} onClose={() => setOpen(false)}>
        {isOpen && (
          <Choices
            all={usable}
            current={account.workspace.id}
            onDone={() => dialog.current?.close()}
          />
        )}
      </Dialog>
    </>
  )
}

type ChoicesProps = { all: Workspace[]; current: string; onDone: () => void }

function Choices({ all, current, onDone }: ChoicesProps) {
  const switchWorkspace = useSwitchWorkspace()
  const list = useId()
  const [text, setText] = useState('')
  const found = all.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  const [marked, setMarked] = useState<string | null>(current)
  const at = Math.max(
    0,
    found.findIndex(({ id }) => id === marked),
  )
  const listbox = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (!document.activeElement?.matches('input')) listbox.current?.focus()
  }, [])
  const optionId = (id: string) => `${list}-${id}`

  function choose(workspace: Workspace | undefined): void {
    if (!workspace) return
    onDone()
    if (workspace.id !== current) void switchWorkspace(workspace.id)
  }
  function press(event: KeyboardEvent): void {
    const { length } = found
    if (event.key === 'Enter') choose(found[at])
    else if (event.key === 'ArrowDown') mark(found[(at + 1) % length])
    else if (event.key === 'ArrowUp') mark(found[(at - 1 + length) % length])
    else return
    event.preventDefault()
  }
  function mark(workspace: Workspace | undefined): void {
    if (!workspace) return
    setMarked(workspace.id)
    document.getElementById(optionId(workspace.id))?.scrollIntoView({ block: 'nearest' })
  }
  const active = found[at] && optionId(found[at].id)

  return (
    <>
      {all.length >= SEARCHABLE && (
        <div className={classes.field}>
          <Icon name="search" />
          <input
            autoFocus
            role="combobox"
            aria-label={messages.search}
            aria-expanded={found.length > 0}
            aria-controls={list}
            aria-activedescendant={active}
            aria-autocomplete="list"
            placeholder={messages.search}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={press}
          />
        </div>
      )}
      <ul
        id={list}
        role="listbox"
        aria-label={messages.results}
        aria-activedescendant={active}
        className={classes.choices}
        tabIndex={0}
        ref={listbox}
        onKeyDown={press}
      >
        {found.map((workspace, index) => (
          <li
            key={workspace.id}
            id={optionId(workspace.id)}
            role="option"
            aria-selected={index === at}
            className={classes.choice}
            onClick={() => choose(workspace)}
            onPointerMove={() => setMarked(workspace.id)}
          >
            <Icon name={workspace.id === current ? 'done' : 'people'} />
            <span className={classes.name}>{workspace.name}</span>
            <small>{messages.details(workspace.role, workspace.plan)}</small>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className={classes.nothing}>{messages.noResults(text)}</p>}
      <div className={classes.links}>
        <Link to="/workspaces" onClick={onDone}>
          {messages.overview}
        </Link>
        <Link to="/workspace" hash="new" onClick={onDone}>
          {messages.create}
        </Link>
      </div>
    </>
  )
}

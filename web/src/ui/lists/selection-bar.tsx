import type { ReactNode } from 'react'
import { Button } from '../actions/button.tsx'
import { ConfirmButton } from '../actions/confirm.tsx'
import { messages } from '../messages.ts'
import classes from './data-table.module.css'
import type { RowAction } from './row-action.ts'

type SelectionBarProps<T> = {
  selected: T[]
  /** Number of rows that match the filter; they can all be selected. */
  total: number
  actions: RowAction<T>[]
  /** The action that is running, and its progress. */
  running: { label: string; text: string } | null
  onRun: (action: RowAction<T>, rows: T[]) => Promise<void>
  onSelectAll: () => void
  onClear: () => void
  children: ReactNode
}

/** The number of rows, or of selected ones with what can be done with them. */
export function SelectionBar<T>(props: SelectionBarProps<T>) {
  const { selected, total, actions, running, onRun, onSelectAll, onClear, children } = props
  if (selected.length === 0) return <div className={classes.bar}>{children}</div>
  return (
    <div
      className={classes.bar}
      data-active
      role="group"
      aria-label={messages.table.actions}
      data-actions
    >
      <span className={classes.count}>
        {running?.text ?? messages.table.selected(selected.length)}
      </span>
      {actions.map((action) => (
        <ActionButton
          key={action.label}
          action={action}
          selected={selected}
          isBusy={running?.label === action.label}
          isBlocked={running !== null}
          onRun={onRun}
        />
      ))}
      {selected.length < total && !running && (
        <Button size="small" kind="quiet" onClick={onSelectAll}>
          {messages.table.selectAll(total)}
        </Button>
      )}
      <Button size="small" kind="quiet" disabled={running !== null} onClick={onClear}>
        {messages.table.clear}
      </Button>
    </div>
  )
}

type ActionButtonProps<T> = {
  action: RowAction<T>
  selected: T[]
  isBusy: boolean
  isBlocked: boolean
  onRun: (action: RowAction<T>, rows: T[]) => Promise<void>
}

function ActionButton<T>({ action, selected, isBusy, isBlocked, onRun }: ActionButtonProps<T>) {
  const { label, kind = 'plain', confirm, appliesTo } = action
  const rows = appliesTo ? selected.filter(appliesTo) : selected
  const disabledReason =
    action.disabledReason ?? (rows.length === 0 ? messages.table.appliesToNone : undefined)
  // Says for how many rows, where that are not all of them.
  const name =
    rows.length > 0 && rows.length < selected.length ? `${label} (${rows.length})` : label
  if (confirm && !disabledReason)
    return (
      <ConfirmButton
        label={name}
        about={messages.table.selectedRows(rows.length)}
        title={confirm.title(rows.length)}
        kind={kind}
        {...(confirm.keep && { keep: confirm.keep })}
        onConfirm={() => onRun(action, rows)}
      >
        {confirm.text}
      </ConfirmButton>
    )
  return (
    <Button
      size="small"
      kind={kind}
      busy={isBusy}
      disabled={isBlocked && !isBusy}
      disabledReason={disabledReason}
      onClick={() => void onRun(action, rows)}
    >
      {name}
    </Button>
  )
}

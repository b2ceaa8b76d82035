import { useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteWithUndo } from '../deletions.ts'
import { updateOptimistically } from '../optimistic-update.ts'
import { Button } from '../ui/actions/button.tsx'
import { Switch } from '../ui/actions/switch.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row } from '../ui/layout/page.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { actions as messages } from './messages.ts'

type RuleActionsProps<Rule> = {
  rule: Rule
  name: string
  /** All rules in their order: the first one that matches counts. */
  all: Rule[]
  queryKey: QueryKey
  api: {
    change: (id: string, settings: { enabled: boolean }) => Promise<unknown>
    order: (ids: string[]) => Promise<unknown>
    remove: (id: string) => Promise<unknown>
  }
  /** Shown while the deletion can be undone. */
  deleting: string
  isChanging: boolean
  onEdit: () => void
  /** An action of its own kind of rules; its result is announced. */
  extra?: { label: string; done: string; run: () => Promise<unknown> } | undefined
}

/** Edits, moves, switches and deletes a rule; what changes is shown at once. */
export function RuleActions<Rule extends { id: string; enabled: boolean }>(
  props: RuleActionsProps<Rule>,
) {
  const { rule, name, all, queryKey, api, deleting, isChanging, onEdit, extra } = props
  const access = useAccess()
  const queries = useQueryClient()
  const [result, setResult] = useState({ problem: '', done: '' })
  const { id } = rule
  const at = all.findIndex((each) => each.id === id)

  async function attempt(work: () => Promise<unknown>, done = ''): Promise<void> {
    setResult({ problem: '', done: '' })
    try {
      await work()
      setResult({ problem: '', done })
    } catch (error) {
      setResult({ problem: (error as Error).message, done: '' })
    }
  }
  const change = (shown: Rule[], send: () => Promise<unknown>) =>
    attempt(() => updateOptimistically(queries, queryKey, () => shown, send))
  const toggle = (enabled: boolean) =>
    change(
      all.map((each) => (each.id === id ? { ...each, enabled } : each)),
      () => api.change(id, { enabled }),
    )
  function move(by: 1 | -1): Promise<void> {
    const moved = all.toSpliced(at, 1).toSpliced(at + by, 0, rule)
    return change(moved, () => api.order(moved.map((each) => each.id)))
  }
  const remove = () =>
    deleteWithUndo(queries, { id, text: deleting, list: queryKey, send: () => api.remove(id) })

  const about = <VisuallyHidden>{name}</VisuallyHidden>
  const quiet = { ...access, size: 'small', kind: 'quiet' } as const
  return (
    <>
      <Row>
        <Button {...access} size="small" onClick={onEdit}>
          {isChanging ? messages.cancel : messages.edit} {about}
        </Button>
        <Button {...quiet} disabled={at === 0} onClick={() => void move(-1)}>
          {messages.up} {about}
        </Button>
        <Button {...quiet} disabled={at === all.length - 1} onClick={() => void move(1)}>
          {messages.down} {about}
        </Button>
        {extra && (
          <Button {...quiet} onClick={() => void attempt(extra.run, extra.done)}>
            {extra.label} {about}
          </Button>
        )}
        <Button {...quiet} onClick={remove}>
          {messages.delete} {about}
        </Button>
        <Switch
          {...access}
          label={messages.on}
          about={name}
          checked={rule.enabled}
          onChange={(isOn) => void toggle(isOn)}
        />
      </Row>
      <div role="status">{result.done && <Notice tone="good">{result.done}</Notice>}</div>
      <div role="alert">{result.problem && <Notice tone="bad">{result.problem}</Notice>}</div>
    </>
  )
}

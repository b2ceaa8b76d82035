import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteWithUndo } from '../deletions.ts'
import { updateOptimistically } from '../optimistic-update.ts'
import { Button } from '../ui/actions/button.tsx'
import { Switch } from '../ui/actions/switch.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Row } from '../ui/layout/page.tsx'
import { TitledCard } from '../ui/layout/titled-card.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { rules, rulesQuery, type Rule } from './api.ts'
import { card as messages, list, ruleState } from './messages.ts'
import { RuleForm } from './rule-form.tsx'

type RuleCardProps = { rule: Rule; place: number; all: Rule[] }

/** A rule as a sentence, with its actions. */
export function RuleCard({ rule, place, all }: RuleCardProps) {
  const [isChanging, setChanging] = useState(false)
  const name = rule.name || list.unnamed(place)
  const state = ruleState(rule)
  return (
    <TitledCard title={name} aside={<Status tone={state.tone}>{state.word}</Status>}>
      <p>{rule.sentence}</p>
      {rule.problem && <Notice tone="warn">{rule.problem}</Notice>}
      {isChanging && <RuleForm rule={rule} onDone={() => setChanging(false)} />}
      <RuleActions
        rule={rule}
        name={name}
        all={all}
        isChanging={isChanging}
        onEdit={() => setChanging(!isChanging)}
      />
    </TitledCard>
  )
}

type RuleActionsProps = {
  rule: Rule
  name: string
  all: Rule[]
  isChanging: boolean
  onEdit: () => void
}

function RuleActions({ rule, name, all, isChanging, onEdit }: RuleActionsProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')
  const { id, enabled } = rule
  const at = all.findIndex((each) => each.id === id)

  async function change(shown: Rule[], send: () => Promise<unknown>): Promise<void> {
    setProblem('')
    try {
      await updateOptimistically(queries, rulesQuery.queryKey, () => shown, send)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  const toggle = (isOn: boolean) =>
    change(
      all.map((each) => (each.id === id ? { ...each, enabled: isOn } : each)),
      () => rules.change(id, { enabled: isOn }),
    )
  function move(by: 1 | -1): Promise<void> {
    const moved = all.toSpliced(at, 1).toSpliced(at + by, 0, rule)
    return change(moved, () => rules.order(moved.map((each) => each.id)))
  }
  function remove(): void {
    deleteWithUndo(queries, {
      id,
      text: messages.deleting(name),
      list: rulesQuery.queryKey,
      send: () => rules.remove(id),
    })
  }

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
        <Button {...quiet} onClick={remove}>
          {messages.delete} {about}
        </Button>
        <Switch
          {...access}
          label={messages.on}
          about={name}
          checked={enabled}
          onChange={(isOn) => void toggle(isOn)}
        />
      </Row>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
}

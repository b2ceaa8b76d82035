import { useState } from 'react'
import { RuleActions } from '../rules/rule-actions.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { TitledCard } from '../ui/layout/titled-card.tsx'
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
        queryKey={rulesQuery.queryKey}
        api={rules}
        deleting={messages.deleting(name)}
        isChanging={isChanging}
        onEdit={() => setChanging(!isChanging)}
      />
    </TitledCard>
  )
}

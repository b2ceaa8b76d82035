import { useState } from 'react'
import { RuleActions } from '../../rules/rule-actions.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { TitledCard } from '../../ui/layout/titled-card.tsx'
import { rulesOf, rulesQuery, type Preview, type Rule } from '../api.ts'
import classes from '../body/code.module.css'
import { rules as messages } from '../messages.ts'
import { describeRule } from './rule-values.ts'
import { WebhookRuleForm } from './webhook-rule-form.tsx'

type RuleCardProps = {
  endpointId: string
  rule: Rule
  place: number
  all: Rule[]
  /** Which rules match the newest request, once it was checked. */
  preview: Preview | null
}

export function WebhookRuleCard({ endpointId, rule, place, all, preview }: RuleCardProps) {
  const [isChanging, setChanging] = useState(false)
  const name = rule.label || messages.unnamed(place)
  const { when, answers } = describeRule(rule)
  const rules = rulesOf(endpointId)
  const answersInTurn = rule.answers.length > 1
  return (
    <TitledCard title={name} aside={<RuleStatus rule={rule} preview={preview} />}>
      <Stack>
        <div>
          {when === '' ? messages.everyRequest : <code className={classes.code}>{when}</code>}
        </div>
        <div>
          <code className={classes.code}>{answers}</code>
        </div>
        {isChanging && (
          <WebhookRuleForm endpointId={endpointId} rule={rule} onDone={() => setChanging(false)} />
        )}
        <RuleActions
          rule={rule}
          name={name}
          all={all}
          queryKey={rulesQuery(endpointId).queryKey}
          api={rules}
          deleting={messages.deleting(name)}
          extra={
            answersInTurn
              ? {
                  label: messages.reset,
                  done: messages.resetDone,
                  run: () => rules.reset(rule.id),
                }
              : undefined
          }
          isChanging={isChanging}
          onEdit={() => setChanging(!isChanging)}
        />
      </Stack>
    </TitledCard>
  )
}

function RuleStatus({ rule, preview }: Pick<RuleCardProps, 'rule' | 'preview'>) {
  const checked = preview?.rules.find(({ id }) => id === rule.id)
  if (checked)
    return checked.matches ? (
      <Status tone="good">{messages.matches}</Status>
    ) : (
      <Status tone="unknown">{messages.noMatch}</Status>
    )
  return rule.enabled ? (
    <Status tone="good">{messages.active}</Status>
  ) : (
    <Status tone="unknown">{messages.off}</Status>
  )
}

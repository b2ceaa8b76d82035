import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { channelsQuery, type Channel } from '../alerts/api.ts'
import { channelName } from '../alerts/targets.ts'
import { ALERT_KINDS } from '../alerts/messages.ts'
import { QuietFields } from '../alerts/quiet-fields.tsx'
import { CheckGroup } from '../ui/forms/check-group.tsx'
import { CountButtons } from '../ui/forms/count-buttons.tsx'
import { AreaField, CheckField, Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { labelsQuery, rules, rulesQuery, type Rule } from './api.ts'
import { DAYS, form as messages, SEVERITIES } from './messages.ts'
import { bodyOf, fields, wrongValues } from './values.ts'

const MAX_STEPS = 5
/** Labels that the hint names. */
const MAX_HINTED_LABELS = 8

type RuleFormProps = {
  /** The rule to edit; null for a new one. */
  rule: Rule | null
  onDone: () => void
}

export function RuleForm({ rule, onDone }: RuleFormProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const { data: channels = [] } = useQuery(channelsQuery)
  const [steps, setSteps] = useState(rule?.escalation?.steps.length ?? 1)

  async function save(values: Record<string, string>): Promise<void> {
    const body = bodyOf(values, steps, rule)
    await (rule ? rules.change(rule.id, body) : rules.create(body))
    await queries.invalidateQueries(rulesQuery)
    onDone()
  }

  return (
    <Form
      guarded
      {...access}
      onSubmit={save}
      submit={rule ? messages.save : messages.create}
      check={(values) =>
        wrongValues(
          values,
          steps,
          channels.map(({ id }) => id),
        )
      }
    >
      <TextField
        name="name"
        label={messages.name}
        defaultValue={rule?.name ?? ''}
        placeholder={messages.nameExample}
        maxLength={100}
      />
      <ConditionFields rule={rule} />
      <CheckGroup
        legend={messages.channels}
        choices={channels.map((channel) => ({
          name: fields.channel(channel.id),
          label: channelName(channel),
          isChecked: rule?.channels.includes(channel.id) ?? false,
        }))}
      />
      <QuietFields
        quietHours={rule?.quietHours ?? null}
        criticalAnytime={rule?.criticalAnytime ?? true}
        texts={messages}
      >
        <DayFields days={rule?.quietHours?.days} />
      </QuietFields>
      <EscalationFields rule={rule} channels={channels} steps={steps} onSteps={setSteps} />
    </Form>
  )
}

function ConditionFields({ rule }: { rule: Rule | null }) {
  const { data: labels = [] } = useQuery(labelsQuery)
  const inUse = labels.slice(0, MAX_HINTED_LABELS).map(({ label }) => label)
  return (
    <>
      <CheckGroup
        legend={messages.topics}
        hint={messages.topicsHint}
        choices={Object.entries(ALERT_KINDS).map(([topic, { name: label }]) => ({
          name: fields.topic(topic),
          label,
          isChecked: rule?.kinds?.includes(topic) ?? false,
        }))}
      />
      <SelectField
        name="minSeverity"
        label={messages.minSeverity}
        defaultValue={rule?.minSeverity ?? 'info'}
        choices={[...SEVERITIES]}
      />
      <AreaField
        name="objects"
        label={messages.objects}
        hint={messages.objectsHint}
        rows={2}
        defaultValue={rule?.objects?.join('\n') ?? ''}
      />
      <TextField
        name="labels"
        label={messages.labels}
        hint={messages.labelsHint(inUse)}
        defaultValue={rule?.labels?.join(', ') ?? ''}
        maxLength={700}
        spellCheck={false}
      />
    </>
  )
}

function DayFields({ days }: { days: string[] | undefined }) {
  return (
    <CheckGroup
      legend={messages.days}
      size="narrow"
      choices={Object.entries(DAYS).map(([day, label]) => ({
        name: fields.day(day),
        label,
        isChecked: days?.includes(day) ?? true,
      }))}
    />
  )
}

type EscalationFieldsProps = {
  rule: Rule | null
  channels: Channel[]
  steps: number
  onSteps: (steps: number) => void
}

function EscalationFields({ rule, channels, steps, onSteps }: EscalationFieldsProps) {
  const [isOn, setOn] = useState((rule?.escalation ?? null) !== null)
  return (
    <>
      <CheckField
        name="escalation"
        label={messages.escalation}
        hint={messages.escalationHint}
        defaultChecked={isOn}
        onChoose={setOn}
      />
      {isOn && (
        <>
          {Array.from({ length: steps }, (_, step) => (
            <StepFields key={step} step={step} rule={rule} channels={channels} />
          ))}
          <CountButtons
            count={steps}
            min={1}
            max={MAX_STEPS}
            add={messages.addStep}
            remove={messages.removeStep}
            onCount={onSteps}
          />
          <TextField
            name="repeats"
            label={messages.repeats}
            hint={messages.repeatsHint}
            inputMode="numeric"
            maxLength={2}
            defaultValue={String(rule?.escalation?.repeats ?? 0)}
          />
        </>
      )}
    </>
  )
}

type StepFieldsProps = { step: number; rule: Rule | null; channels: Channel[] }

function StepFields({ step, rule, channels }: StepFieldsProps) {
  const stored = rule?.escalation?.steps[step]
  return (
    <>
      <TextField
        name={fields.minutes(step)}
        label={step === 0 ? messages.afterFirst : messages.afterStep}
        inputMode="numeric"
        maxLength={4}
        defaultValue={String(stored?.afterMinutes ?? 15)}
      />
      <CheckGroup
        legend={messages.stepChannels(step + 1)}
        choices={channels.map((channel) => ({
          name: fields.stepChannel(step, channel.id),
          label: channelName(channel),
          isChecked: stored?.channels.includes(channel.id) ?? false,
        }))}
      />
    </>
  )
}

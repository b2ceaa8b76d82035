import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { channelsQuery, type Channel } from '../alerts/api.ts'
import { channelName } from '../alerts/targets.ts'
import { ALERT_KINDS } from '../alerts/messages.ts'
import { Button } from '../ui/actions/button.tsx'
import { CheckGroup } from '../ui/forms/check-group.tsx'
import { AreaField, CheckField, FieldRow, Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { Row } from '../ui/layout/page.tsx'
import { viewerTimeZone } from '../ui/text/dates.ts'
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
        autoComplete="off"
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
      <QuietFields rule={rule} />
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
        spellCheck={false}
        defaultValue={rule?.objects?.join('\n') ?? ''}
      />
      <TextField
        name="labels"
        label={messages.labels}
        hint={messages.labelsHint(inUse)}
        defaultValue={rule?.labels?.join(', ') ?? ''}
        maxLength={700}
        autoComplete="off"
        spellCheck={false}
      />
    </>
  )
}

function QuietFields({ rule }: { rule: Rule | null }) {
  const quietHours = rule?.quietHours ?? null
  const [isQuiet, setQuiet] = useState(quietHours !== null)
  const timeZone = quietHours?.timeZone ?? viewerTimeZone()
  const timeZones = [...new Set([timeZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  return (
    <>
      <CheckField
        name="quiet"
        label={messages.quiet}
        hint={messages.quietHint}
        defaultChecked={isQuiet}
        onChoose={setQuiet}
      />
      {isQuiet && (
        <>
          <CheckGroup
            legend={messages.days}
            size="narrow"
            choices={Object.entries(DAYS).map(([day, label]) => ({
              name: fields.day(day),
              label,
              isChecked: quietHours?.days.includes(day as 'mon') ?? true,
            }))}
          />
          <FieldRow>
            <TextField
              name="from"
              label={messages.from}
              type="time"
              defaultValue={quietHours?.from ?? '22:00'}
            />
            <TextField
              name="to"
              label={messages.to}
              type="time"
              defaultValue={quietHours?.to ?? '07:00'}
            />
            <SelectField
              name="timeZone"
              label={messages.timeZone}
              defaultValue={timeZone}
              choices={timeZones.map((zone) => ({ value: zone, label: zone }))}
            />
          </FieldRow>
          <CheckField
            name="critical"
            label={messages.critical}
            defaultChecked={rule?.criticalAnytime ?? true}
          />
        </>
      )}
    </>
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
          <Row>
            {steps < MAX_STEPS && (
              <Button size="small" onClick={() => onSteps(steps + 1)}>
                {messages.addStep}
              </Button>
            )}
            {steps > 1 && (
              <Button size="small" kind="quiet" onClick={() => onSteps(steps - 1)}>
                {messages.removeStep}
              </Button>
            )}
          </Row>
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

import { FieldRow, Form, TextField } from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import type { FleetRule } from './api.ts'
import { rules as messages } from './messages.ts'

const HOUR = 3_600
const MINUTE = 60

type Props = { rule: FleetRule; submit: string; onSave: (rule: FleetRule) => Promise<void> }

/** The fields of one rule. */
export function RuleForm({ rule, submit, onSave }: Props) {
  const access = useAccess()

  function save(values: Record<string, string>): Promise<void> {
    const number = (name: string, unit = 1) => Math.round(Number(values[name]) * unit)
    return onSave({
      services: (values['services'] ?? '').split(/[\s,]+/).filter(Boolean),
      minCount: number('minCount'),
      windowSeconds: number('window', MINUTE),
      banSeconds: number('first', HOUR),
      growth: Number(values['growth']),
      maxBanSeconds: number('longest', HOUR),
    })
  }

  return (
    <Form {...access} key={JSON.stringify(rule)} onSubmit={save} submit={submit}>
      <TextField
        name="services"
        label={messages.services}
        hint={messages.servicesHint}
        defaultValue={rule.services.join(', ')}
        spellCheck={false}
      />
      <FieldRow>
        <NumberField name="minCount" label={messages.minCount} value={rule.minCount} />
        <NumberField name="window" label={messages.window} value={rule.windowSeconds / MINUTE} />
      </FieldRow>
      <FieldRow>
        <NumberField name="first" label={messages.first} value={rule.banSeconds / HOUR} />
        <NumberField name="growth" label={messages.growth} value={rule.growth} />
        <NumberField name="longest" label={messages.longest} value={rule.maxBanSeconds / HOUR} />
      </FieldRow>
    </Form>
  )
}

function NumberField({ name, label, value }: { name: string; label: string; value: number }) {
  return <TextField name={name} label={label} defaultValue={String(value)} inputMode="decimal" />
}

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../ui/actions/button.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { FieldRow, Form, TextField } from '../../ui/forms/form.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { fleet, FLEET_KEY, settingsQuery, type FleetRule, type FleetSettings } from './api.ts'
import { rules as messages } from './messages.ts'

/** When a report bans an address, and for how long. */
export function Rules() {
  const { data, error } = useQuery(settingsQuery)
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
      {data && <RuleTexts {...data} />}
    </Section>
  )
}

function RuleTexts({ rules, hasOwnRules }: FleetSettings) {
  const access = useAccess()
  const queries = useQueryClient()
  const [rule] = rules

  async function restore(): Promise<void> {
    await fleet.change({ rules: null })
    await queries.invalidateQueries({ queryKey: FLEET_KEY })
  }

  return (
    <>
      {rules.length === 0 && <p>{messages.none}</p>}
      {rules.map((each) => {
        const text = messages.text(each)
        return <p key={text}>{text}</p>
      })}
      {rules.length > 1 && <Muted>{messages.several}</Muted>}
      {rule && rules.length === 1 && (
        <Disclosure summary={messages.change}>
          <RuleForm rule={rule} />
        </Disclosure>
      )}
      {hasOwnRules && (
        <div>
          <Button {...access} kind="quiet" onClick={() => void restore()}>
            {messages.restore}
          </Button>
        </div>
      )}
    </>
  )
}

const HOUR = 3_600
const MINUTE = 60

function RuleForm({ rule }: { rule: FleetRule }) {
  const access = useAccess()
  const queries = useQueryClient()

  async function save(values: Record<string, string>): Promise<void> {
    const number = (name: string, unit = 1) => Math.round(Number(values[name]) * unit)
    const changed = {
      services: (values['services'] ?? '').split(/[\s,]+/).filter(Boolean),
      minCount: number('minCount'),
      windowSeconds: number('window', MINUTE),
      banSeconds: number('first', HOUR),
      growth: Number(values['growth']),
      maxBanSeconds: number('longest', HOUR),
    }
    await fleet.change({ rules: [changed] })
    await queries.invalidateQueries({ queryKey: FLEET_KEY })
  }

  return (
    <Form {...access} key={JSON.stringify(rule)} onSubmit={save} submit={messages.submit}>
      <TextField
        name="services"
        label={messages.services}
        hint={messages.servicesHint}
        defaultValue={rule.services.join(', ')}
        spellCheck={false}
        autoComplete="off"
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
  return (
    <TextField
      name={name}
      label={label}
      defaultValue={String(value)}
      inputMode="decimal"
      autoComplete="off"
    />
  )
}

import { useState } from 'react'
import type { WantedToken } from '../api.ts'
import { FieldRow, Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { accessField, MODULES, PRESETS, scopesOf, type Preset } from './scopes.ts'
import { form as messages, scopes as scopeMessages } from './messages.ts'

/** The lifetimes of a token in days, and `never`. */
const EXPIRIES = ['30', '90', '365', 'never'] as const

/** The form of a new token: its name, what it may do, and for how long. */
export function TokenForm({ onCreate }: { onCreate: (token: WantedToken) => Promise<void> }) {
  const [preset, setPreset] = useState<Preset>('read')
  const moduleChoices = MODULES.map((value) => ({ value, label: scopeMessages.modules[value] }))

  async function create(values: Record<string, string>): Promise<void> {
    const { label = '', expiry } = values
    const scopes = scopesOf(values)
    await onCreate({
      label: label.trim(),
      ...(scopes && { scopes }),
      ...(expiry !== 'never' && { expiresInDays: Number(expiry) as 30 | 90 | 365 }),
    })
  }

  return (
    <Form onSubmit={create} check={findProblems} submit={messages.create}>
      <FieldRow>
        <TextField
          name="label"
          label={messages.name}
          placeholder={messages.namePlaceholder}
          maxLength={100}
        />
        <SelectField
          name="expiry"
          label={messages.expiry}
          defaultValue="90"
          choices={EXPIRIES.map((value) => ({ value, label: messages.expiries[value] }))}
        />
      </FieldRow>
      <SelectField
        name="preset"
        label={messages.preset}
        hint={messages.presetHint}
        choices={PRESETS.map((value) => ({ value, label: messages.presets[value] }))}
        onChoose={(value) => setPreset(value as Preset)}
      />
      {preset === 'module' && (
        <FieldRow>
          <SelectField name="module" label={messages.module} choices={moduleChoices} />
          <RightField name="right" label={messages.right} />
        </FieldRow>
      )}
      {preset === 'custom' && (
        <FieldRow>
          {MODULES.map((module) => (
            <RightField
              key={module}
              name={accessField(module)}
              label={scopeMessages.modules[module]}
              isOptional
            />
          ))}
        </FieldRow>
      )}
    </Form>
  )
}

type RightFieldProps = { name: string; label: string; isOptional?: boolean }

function RightField({ name, label, isOptional = false }: RightFieldProps) {
  const values = isOptional ? (['none', 'read', 'write'] as const) : (['read', 'write'] as const)
  return (
    <SelectField
      name={name}
      label={label}
      choices={values.map((value) => ({ value, label: messages.rights[value] }))}
    />
  )
}

function findProblems(values: Record<string, string>): Record<string, string> {
  return {
    ...(values['label']?.trim() ? {} : { label: messages.missingName }),
    ...(scopesOf(values)?.length === 0 && { [accessField('checks')]: messages.chooseModule }),
  }
}

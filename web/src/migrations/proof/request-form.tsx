import type { ReactNode } from 'react'
import { FieldRow, Form, SelectField } from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { proof as messages } from './messages.ts'

export type Level = 'headers' | 'full'

type RequestFormProps = {
  onRequest: (level: Level, values: Record<string, string>) => Promise<void>
  check?: ((values: Record<string, string>) => Record<string, string>) | undefined
  /** Further fields, such as passwords. */
  children?: ReactNode
}

/** Asks how thoroughly both servers are compared. */
export function RequestForm({ onRequest, check, children }: RequestFormProps) {
  const access = useAccess()
  return (
    <Form
      {...access}
      submit={messages.request}
      check={check}
      onSubmit={(values) => onRequest(values['level'] === 'full' ? 'full' : 'headers', values)}
    >
      {children}
      <FieldRow>
        <SelectField
          name="level"
          label={messages.level}
          hint={messages.fullHint}
          choices={(['headers', 'full'] as const).map((value) => ({
            value,
            label: messages.levels[value],
          }))}
        />
      </FieldRow>
    </Form>
  )
}

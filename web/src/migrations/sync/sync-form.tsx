import type { ReactNode } from 'react'
import { CheckField, FieldRow, Form, SelectField } from '../../ui/forms/form.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { intervals, sync as messages } from './messages.ts'

/** How mailboxes are synchronized. */
export type SyncSettings = { everyMinutes: number; deletions?: 'record' | 'apply' | undefined }

type SyncFormProps = {
  /** Null before the first time. */
  current: SyncSettings | null
  onSave: (settings: SyncSettings, values: Record<string, string>) => Promise<void>
  check?: ((values: Record<string, string>) => Record<string, string>) | undefined
  /** Further fields, such as passwords. */
  children?: ReactNode
}

/** Asks how often to synchronize. */
export function SyncForm({ current, onSave, check, children }: SyncFormProps) {
  const access = useAccess()
  const known = intervals.some(({ minutes }) => minutes === current?.everyMinutes)
  const own = current && !known ? [current.everyMinutes] : []
  const choices = [...own, ...intervals.map(({ minutes }) => minutes)]
  return (
    <Disclosure summary={current ? messages.changeSettings : messages.setUp}>
      <Form
        {...access}
        kind={current ? 'plain' : 'primary'}
        check={check}
        submit={current ? messages.change : messages.start}
        onSubmit={(values) =>
          onSave(
            {
              everyMinutes: Number(values['everyMinutes']),
              deletions: values['apply'] === 'on' ? 'apply' : 'record',
            },
            values,
          )
        }
      >
        {children}
        <FieldRow>
          <SelectField
            name="everyMinutes"
            label={messages.every}
            defaultValue={String(current?.everyMinutes ?? 30)}
            choices={choices.map((minutes) => ({
              value: String(minutes),
              label: messages.everyMinutes(minutes),
            }))}
          />
        </FieldRow>
        <CheckField
          name="apply"
          label={messages.apply}
          hint={messages.applyHint}
          defaultChecked={current?.deletions === 'apply'}
        />
      </Form>
    </Disclosure>
  )
}

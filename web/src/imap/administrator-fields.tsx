import { useState } from 'react'
import { SelectField, TextField } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { ADMINISTRATOR_METHODS, type Administrator } from './account.ts'
import { administrator as messages } from './messages.ts'

const NONE = 'none'

/** An administrator whose password opens the mailbox of the user. */
export function AdministratorFields({ initial }: { initial: Administrator | undefined }) {
  const [method, setMethod] = useState<string>(initial?.method ?? NONE)
  return (
    <Disclosure summary={messages.summary}>
      <SelectField
        name="administrator.method"
        label={messages.method}
        hint={messages.hint}
        choices={[
          { value: NONE, label: messages.none },
          ...ADMINISTRATOR_METHODS.map((value) => ({ value, label: messages.methods[value] })),
        ]}
        defaultValue={method}
        onChoose={setMethod}
      />
      {method !== NONE && (
        <TextField
          name="administrator.user"
          label={messages.user}
          defaultValue={initial?.user ?? ''}
          spellCheck={false}
        />
      )}
    </Disclosure>
  )
}

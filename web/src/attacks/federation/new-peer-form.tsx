import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { Section } from '../../ui/layout/page.tsx'
import { federation, peersQuery } from './api.ts'
import { federation as messages } from './messages.ts'

/** Adds an installation by its URL; its fingerprint then appears in the list. */
export function NewPeerForm() {
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ url = '' }: Record<string, string>): Promise<void> {
    await federation.add(url.trim())
    setAdded(added + 1)
    await queries.invalidateQueries(peersQuery)
  }

  return (
    <Section title={messages.add}>
      <Form key={added} onSubmit={add} submit={messages.submit}>
        <TextField
          name="url"
          label={messages.addUrl}
          placeholder={messages.addExample}
          maxLength={300}
          spellCheck={false}
          inputMode="url"
        />
      </Form>
    </Section>
  )
}

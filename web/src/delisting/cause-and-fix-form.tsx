import { useQueryClient } from '@tanstack/react-query'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { AreaField, Form } from '../ui/forms/form.tsx'
import { delistingQuery, delisting, type Delisting, type Step } from './api.ts'
import { RequestText } from './request-text.tsx'

type WordsFormProps = { of: Delisting; step: Step }

/** What caused the listing and what was done about it: without these no list is asked. */
export function CauseAndFixForm({ of, step }: WordsFormProps) {
  const queries = useQueryClient()
  const { id, method, request } = step
  const isMail = method === 'email'

  async function say({ cause = '', fix = '', text = '' }: Record<string, string>): Promise<void> {
    const own = text.trim() === '' ? {} : { text: text.trim() }
    const changed = await delisting.confirm(of.id, id, { cause: cause.trim(), fix: fix.trim(), ...own })
    queries.setQueryData(delistingQuery(of.id).queryKey, changed)
  }

  return (
    <Form onSubmit={say} check={wrongWords} submit={isMail ? 'Confirm, and send the mail' : 'Write the text'}>
      <AreaField
        prose
        name="cause"
        label="What caused the listing"
        placeholder="A mailbox with a guessed password sent spam."
        rows={2}
        defaultValue={of.cause ?? ''}
      />
      <AreaField
        prose
        name="fix"
        label="What was done about it, and when"
        placeholder="Its password was changed on 20 November."
        rows={2}
        defaultValue={of.fix ?? ''}
      />
      {request && (
        <Disclosure summary={isMail ? 'The mail that is sent' : 'The text for the form'}>
          <RequestText step={step} />
          <AreaField prose name="text" label="Your own text in its place" rows={6} />
        </Disclosure>
      )}
    </Form>
  )
}

function wrongWords({ cause = '', fix = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(cause.trim() === '' && { cause: 'Say what caused it: lists ask for it.' }),
    ...(fix.trim() === '' && { fix: 'Say what was done about it.' }),
  }
}

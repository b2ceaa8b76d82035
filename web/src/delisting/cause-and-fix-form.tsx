import { useQueryClient } from '@tanstack/react-query'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { AreaField, Form } from '../ui/forms/form.tsx'
import { delistingQuery, delisting, type Delisting, type Step } from './api.ts'
import { causeAndFix as messages } from './messages.ts'
import { RequestText } from './request-text.tsx'
import { useAccess } from '../workspaces/roles.ts'

type CauseAndFixFormProps = { of: Delisting; step: Step }

/** Asks for the cause of the listing and the fix. No request goes to a list without both. */
export function CauseAndFixForm({ of, step }: CauseAndFixFormProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const { id, method, request } = step
  const isEmail = method === 'email'

  async function confirm({
    cause = '',
    fix = '',
    text = '',
  }: Record<string, string>): Promise<void> {
    const own = text.trim() === '' ? {} : { text: text.trim() }
    const changed = await delisting.confirm(of.id, id, {
      cause: cause.trim(),
      fix: fix.trim(),
      ...own,
    })
    queries.setQueryData(delistingQuery(of.id).queryKey, changed)
  }

  return (
    <Form
      {...access}
      onSubmit={confirm}
      check={findMissing}
      submit={isEmail ? messages.sendEmail : messages.prepareText}
    >
      <AreaField
        prose
        name="cause"
        label={messages.cause}
        placeholder={messages.causeExample}
        rows={2}
        defaultValue={of.cause ?? ''}
      />
      <AreaField
        prose
        name="fix"
        label={messages.fix}
        placeholder={messages.fixExample}
        rows={2}
        defaultValue={of.fix ?? ''}
      />
      {request && (
        <Disclosure summary={isEmail ? messages.emailPreview : messages.formPreview}>
          <RequestText step={step} />
          <AreaField prose name="text" label={messages.ownText} rows={6} />
        </Disclosure>
      )}
    </Form>
  )
}

function findMissing({ cause = '', fix = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(cause.trim() === '' && { cause: messages.enterCause }),
    ...(fix.trim() === '' && { fix: messages.enterFix }),
  }
}

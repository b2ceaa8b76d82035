import { useQuery, useQueryClient } from '@tanstack/react-query'
import { serviceQuery } from '../../queries.ts'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { methodsQuery, security } from '../api.ts'
import { singleSignOn as messages } from '../messages.ts'

/** Links the account to the OpenID provider, or unlinks it. */
export function SingleSignOn() {
  const queries = useQueryClient()
  const { data: service } = useQuery(serviceQuery)
  const { data: methods } = useQuery(methodsQuery)
  if (!service?.oidc || !methods) return null
  const { name } = service.oidc

  async function link(): Promise<void> {
    const { url } = await security.linkOidc()
    location.assign(url)
  }

  async function unlink(): Promise<void> {
    await security.unlinkOidc()
    await queries.invalidateQueries(methodsQuery)
  }

  if (!methods.oidc)
    return (
      <Form onSubmit={link} submit={messages.link(name)} kind="plain">
        <p>{messages.notLinked(name)}</p>
      </Form>
    )
  return (
    <Stack>
      <p>{messages.linked(name)}</p>
      <div>
        <ConfirmButton
          label={messages.unlink}
          about={name}
          title={messages.unlinkTitle(name)}
          kind="plain"
          onConfirm={unlink}
        >
          {messages.unlinkEffect(name)}
        </ConfirmButton>
      </div>
    </Stack>
  )
}

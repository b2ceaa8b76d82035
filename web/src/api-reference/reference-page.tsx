import { useEffect, useMemo, type ReactNode } from 'react'
import { serviceUrl } from '../base-path.ts'
import { TextWithCode } from '../ui/text/text-with-code.tsx'
import { useReference, type Loading } from './load-document.ts'
import { LoadingState } from './loading-state.tsx'
import { usePlace, type Place } from './location.ts'
import { frame, loading as messages } from './messages.ts'
import { Frame } from './frame/frame.tsx'
import { OperationPage } from './operation/operation-page.tsx'
import { OverviewPage, SECTIONS } from './overview/overview-page.tsx'
import { ReferenceContext } from './reference-context.ts'
import classes from './reference-page.module.css'

/** The API reference: navigation, and the overview or one operation. */
export function ReferencePage() {
  const loading = useReference()
  const place = usePlace()
  const reference = loading.state === 'loaded' ? loading.reference : null
  const operation = reference?.operations.find(({ id }) => id === place.name)
  useEffect(() => {
    document.title = frame.documentTitle(operation?.summary)
  }, [operation])
  const context = useMemo(
    () => ({ schemas: reference?.schemas ?? {}, baseUrl: serviceUrl() }),
    [reference],
  )
  return (
    <ReferenceContext value={context}>
      <Frame reference={reference} current={operation?.id ?? null}>
        <Content loading={loading} place={place} />
      </Frame>
    </ReferenceContext>
  )
}

function Content({ loading, place }: { loading: Loading; place: Place }): ReactNode {
  if (place.name === '' || SECTIONS.includes(place.name))
    return <OverviewPage loading={loading} section={place.name} />
  if (loading.state !== 'loaded') return <LoadingState loading={loading} />
  const { operations } = loading.reference
  const index = operations.findIndex(({ id }) => id === place.name)
  const operation = operations[index]
  if (!operation) return <UnknownOperation id={place.name} />
  return (
    <OperationPage
      // Another operation begins with its own fields closed, and its own form.
      key={operation.id}
      operation={operation}
      field={place.field}
      previous={operations[index - 1]}
      next={operations[index + 1]}
    />
  )
}

function UnknownOperation({ id }: { id: string }) {
  return (
    <div className={classes.state}>
      <h1>{messages.unknownTitle}</h1>
      <p>
        <TextWithCode text={messages.unknown(id)} />
      </p>
      <p>
        <a href="#">{messages.overview}</a>
      </p>
    </div>
  )
}

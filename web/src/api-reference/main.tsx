import { startTransition, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ReferencePage } from './reference-page.tsx'

const root = createRoot(document.getElementById('app') as HTMLElement)
// As a transition, the page is rendered in short steps, between which the browser responds.
startTransition(() =>
  root.render(
    <StrictMode>
      <ReferencePage />
    </StrictMode>,
  ),
)

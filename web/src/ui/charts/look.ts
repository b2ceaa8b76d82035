/**
 * How a part of a chart is drawn. Each look differs from the others without colour too: by a
 * hatch or a shape.
 */
export type Look = 'main' | 'good' | 'bad' | 'unknown' | 'none' | 'volume' | 'rate'

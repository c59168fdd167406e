// The names under which the demo engine shows itself, so that nobody takes it for an inference server. Data only.

export const modelAlias = 'tokenweir-demo';
export const buildInfo = 'demo-1-no-model';
export const serverHeader = 'tokenweir-demo';

/** Context per slot in tokens. */
export const contextTokens = 8192;
export const slotCount = 4;

//! The tools that those who read the answers of a memory can call.

use super::Memory;
use crate::model::next_step_advice::CallableTools;

impl Memory {
    /// Returns this memory with advice for those who can call these tools.
    #[must_use]
    pub(crate) fn with_tools(self, tools: CallableTools) -> Memory {
        Memory { tools, ..self }
    }

    /// Returns the tools that its advice names.
    pub(crate) fn tools(&self) -> &CallableTools {
        &self.tools
    }
}
